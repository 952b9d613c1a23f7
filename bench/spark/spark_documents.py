"""Documents of a benchmark as a folder of Parquet files."""
import pathlib

import numpy as np
import pyarrow
import pyarrow.parquet

FILES = 8


def write_documents(texts, path):
    """Writes columns id (the position) and text; the folder must not be there."""
    pathlib.Path(path).mkdir()
    rows = -(-len(texts) // FILES)
    table = pyarrow.table({"id": np.arange(len(texts)), "text": texts})
    for i in range(FILES):
        pyarrow.parquet.write_table(table.slice(i * rows, rows), f"{path}/{i}.parquet")
