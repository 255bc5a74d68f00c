"""Networks as functions of one flat parameter vector, and the derivatives of their value."""
