"""Results of studies, as pages, API, commands, charts and downloads read them. No framework, no input or output."""
