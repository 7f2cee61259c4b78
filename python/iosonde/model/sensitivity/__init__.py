"""Which factor matters: shares of the variance of a response, with their uncertainty (``iosonde rank``)."""
