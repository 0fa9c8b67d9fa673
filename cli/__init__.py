"""The `kaijin` command. It imports the other packages inside its commands; nothing imports it."""
