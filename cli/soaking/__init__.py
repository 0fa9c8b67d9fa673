"""What `kaijin soak` is made of: the parts, the faults, and those who check."""
