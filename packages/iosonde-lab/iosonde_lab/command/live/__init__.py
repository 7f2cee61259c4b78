"""``iosonde lab …`` of a lab that is up."""
