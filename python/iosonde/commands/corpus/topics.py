"""What a corpus can be asked besides the spread of its results."""

VALIDITY, DEPENDENCE, OPEN_CLOSE, WEAR_OUT, BALANCE = "validity", "dependence", "open-close", "wear-out", "balance"
TOPICS = (VALIDITY, DEPENDENCE, OPEN_CLOSE, WEAR_OUT, BALANCE)
