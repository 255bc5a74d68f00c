"""What all other packages build on: errors, files, arrays, and loops unrolled for accelerators."""
