"""What a tree of files holds, from a sample: walked whole, drawn in the same pass, a few files read."""
