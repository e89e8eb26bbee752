"""What is being said: the pieces of attempts that run, or ran a moment ago, in this process."""
