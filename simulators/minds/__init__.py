"""The minds of people at a table: what they do about what they see and are asked. Pure."""
