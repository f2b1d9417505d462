"""What each request is answered with, by subject; a handler takes a `Query` and yields parts as they are found."""
