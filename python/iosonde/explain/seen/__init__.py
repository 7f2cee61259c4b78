"""What is seen of the operations of a trial: classes, sums, places, what slow ones have in common, what is drawn."""
