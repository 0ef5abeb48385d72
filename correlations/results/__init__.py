"""Results of studies: what their pages, API, commands, figures and downloads read. No framework, no input or output."""
