"""What ``iosonde plot`` draws beside the figures of the page: responses against factors, totals by node count."""
