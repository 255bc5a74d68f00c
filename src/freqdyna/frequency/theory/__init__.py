"""The paper's theorem, the uncertainty principle, Fourier series and local bandwidth."""
