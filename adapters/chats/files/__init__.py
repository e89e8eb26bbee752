"""Files in requests and answers: their names, their types, links to them. Pure."""
