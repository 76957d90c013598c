package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowBatch;
import dev.tonnage.client.arrow.ArrowColumn;
import dev.tonnage.client.arrow.ArrowException;
import dev.tonnage.client.arrow.ArrowField;
import dev.tonnage.client.arrow.ArrowReader;
import dev.tonnage.client.arrow.ArrowSchema;
import dev.tonnage.client.internal.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * Rows as they come from the server, about 2 MiB at a time. One thread reads them. Close them when
 * you stop before the last one: that ends the call.
 */
public final class Rows implements Iterator<Row>, Iterable<Row>, AutoCloseable {
    private final ArrowReader reader;
    private final AutoCloseable call;
    private final Function<IOException, TonnageException> lost;
    private final boolean hasRelatives;
    private BatchRows batch;
    private int next;
    private boolean isClosed;

    Rows(ArrowReader reader, AutoCloseable call, boolean hasRelatives,
            Function<IOException, TonnageException> lost) {
        this.reader = reader;
        this.call = call;
        this.hasRelatives = hasRelatives;
        this.lost = lost;
    }

    /** The columns; with relatives a column for each table. */
    public ArrowSchema schema() {
        try {
            return reader.schema();
        } catch (IOException error) {
            throw ended(lost.apply(error));
        } catch (ArrowException error) {
            throw ended(error);
        }
    }

    /**
     * The next rows as columns, for programs that want no objects; null behind the last ones. Rows
     * that {@link #next} has not returned of the batch before are skipped.
     */
    public ArrowBatch nextBatch() {
        batch = null;
        if (isClosed) {
            return null;
        }
        try {
            ArrowBatch found = reader.next();
            while (found != null && found.rows() == 0) {
                // The server says so that it still works.
                found = reader.next();
            }
            if (found == null) {
                String error = reader.error();
                close();
                if (error != null) {
                    // Where this side ended the call, the server tells of that alone.
                    TonnageException own = lost.apply(null);
                    throw own == null ? Wire.error(Json.parseObject(error)) : own;
                }
            }
            return found;
        } catch (IOException error) {
            throw ended(lost.apply(error));
        } catch (ArrowException error) {
            throw ended(error);
        }
    }

    private RuntimeException ended(RuntimeException error) {
        close();
        return error;
    }

    /**
     * Whether there is another row.
     *
     * @throws TonnageException what ended the rows early
     */
    @Override
    public boolean hasNext() {
        while (batch == null || next >= batch.rows()) {
            ArrowBatch found = nextBatch();
            if (found == null) {
                return false;
            }
            batch = new BatchRows(found, hasRelatives);
            next = 0;
        }
        return true;
    }

    @Override
    public Row next() {
        if (!hasNext()) {
            throw new NoSuchElementException("there are no more rows");
        }
        return batch.row(next++);
    }

    /** Itself: rows can be read once. */
    @Override
    public Iterator<Row> iterator() {
        return this;
    }

    /** All rows that are left, in memory. */
    public List<Row> toList() {
        List<Row> rows = new ArrayList<>();
        forEachRemaining(rows::add);
        return rows;
    }

    @Override
    public void close() {
        isClosed = true;
        try {
            reader.close();
            call.close();
        } catch (Exception ignored) {
            // The connection is of no more use either way.
        }
    }

    /** The rows of a batch as objects. The names of columns are made once for all of them. */
    private static final class BatchRows {
        private final ArrowBatch batch;
        private final List<TableColumns> tables = new ArrayList<>();

        BatchRows(ArrowBatch batch, boolean hasRelatives) {
            this.batch = batch;
            if (!hasRelatives) {
                List<ArrowColumn> columns = new ArrayList<>();
                for (int index = 0; index < batch.schema().fields().size(); index++) {
                    columns.add(batch.column(index));
                }
                tables.add(new TableColumns(null, null, columns));
                return;
            }
            for (int index = 0; index < batch.schema().fields().size(); index++) {
                ArrowColumn table = batch.column(index);
                tables.add(new TableColumns(table.field().name(), table, table.children()));
            }
        }

        int rows() {
            return batch.rows();
        }

        Row row(int row) {
            for (TableColumns table : tables) {
                if (table.rows == null || !table.rows.isNull(row)) {
                    return table.row(row);
                }
            }
            throw new ArrowException("row " + row + " is of no table");
        }
    }

    private static final class TableColumns {
        private final String path;
        private final ArrowColumn rows;
        private final List<ArrowColumn> columns = new ArrayList<>();
        private final String[] names;
        private ArrowColumn version;
        private ArrowColumn expiry;
        private ArrowColumn key;

        TableColumns(String path, ArrowColumn rows, List<ArrowColumn> all) {
            this.path = path;
            this.rows = rows;
            for (ArrowColumn column : all) {
                ArrowField field = column.field();
                switch (field.name()) {
                    case "_version":
                        version = column;
                        break;
                    case "_expires_at_ms":
                        expiry = column;
                        break;
                    case "_key":
                        key = column;
                        break;
                    default:
                        columns.add(column);
                }
            }
            names = columns.stream().map(column -> column.field().name()).toArray(String[]::new);
        }

        Row row(int row) {
            Object[] values = new Object[columns.size()];
            for (int index = 0; index < values.length; index++) {
                values[index] = columns.get(index).get(row);
            }
            Row made = Row.of(names, values, path);
            if (version != null && expiry != null) {
                made.stamp(version.getLong(row), expiry.getLong(row));
            }
            if (key != null) {
                made.answers(key.getLong(row));
            }
            return made;
        }
    }
}
