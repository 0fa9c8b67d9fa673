"""The kit for who builds a board or tries a release against one: conformance, scripts, recordings, fixtures."""
