import metrics.single_thread  # noqa: F401 - as in the product, and before anything imports NumPy
