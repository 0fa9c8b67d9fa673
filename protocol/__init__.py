"""The wires of the table: ``serial`` to the MCU, ``mqtt`` to displays and parlor. Imports nothing else of Kaijin."""
