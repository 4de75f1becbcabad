"""Guest lines to a cell: what the launcher wrote on its stdout, folded into the values that everything else takes."""
