"""What commands do, apart from their words: imported only when one is run, for it takes a while."""
