"""How answers look: lines under 80 columns, tables, and figures as Vega-Lite in plain data. Computes nothing."""
