"""What is said: the pieces a message is made of, whoever said them."""
