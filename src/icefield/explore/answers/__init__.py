"""What each request is answered with, by subject; a handler takes what was `Asked` and yields parts as they are found."""
