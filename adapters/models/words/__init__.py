"""The words that chats are given beside what is said in them."""
