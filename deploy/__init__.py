"""Data files that a real board needs: units, broker configuration, access list, udev rule, settings."""
