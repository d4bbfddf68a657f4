"""From files of every format to chunks of rows, in bounded memory."""
