"""What several rooms need to test: real servers on loopback."""
