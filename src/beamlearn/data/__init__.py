"""What is read and written: text, CoNLL-U, column files, HKCanCor and word vectors."""
