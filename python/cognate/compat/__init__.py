"""What people already call, over Cognate: a change of the import is all that a program needs."""
