"""What all other rooms stand on: errors, files, arrays, and loops laid out for the device."""
