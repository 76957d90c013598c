package dev.tonnage.client.arrow;

import java.util.ArrayList;
import java.util.List;

/**
 * Builds rows for a stream, column by column. A builder is used again for the next batch, so that
 * its buffers are.
 */
public final class BatchBuilder {
    private final ArrowSchema schema;
    private final List<ColumnBuilder> columns = new ArrayList<>();
    private int rows;

    /** Builds rows of these columns. */
    public BatchBuilder(ArrowSchema schema) {
        this.schema = schema;
        for (ArrowField field : schema.fields()) {
            columns.add(new ColumnBuilder(field));
        }
    }

    /** The columns. */
    public ArrowSchema schema() {
        return schema;
    }

    /** How many rows there are. */
    public int rows() {
        return rows;
    }

    /** About the bytes of all rows. */
    public long bytes() {
        long bytes = 0;
        for (ColumnBuilder column : columns) {
            bytes += column.bytes();
        }
        return bytes;
    }

    /**
     * Adds a row.
     *
     * @param values the value of each column, in their order
     * @throws ArrowException for a value that does not fit its column; the row is not added
     */
    public void add(Object... values) {
        if (values.length != columns.size()) {
            throw new ArrowException(values.length + " values for " + columns.size() + " columns");
        }
        try {
            for (int index = 0; index < values.length; index++) {
                columns.get(index).add(values[index]);
            }
        } catch (ArrowException error) {
            columns.forEach(column -> column.cut(rows));
            throw error;
        }
        rows++;
    }

    /** Adds the components of a key and, where there is such a column, a value. */
    public void addPair(List<byte[]> major, List<byte[]> minor, byte[] value) {
        columns.get(0).addBinaries(major);
        columns.get(1).addBinaries(minor);
        if (columns.size() > 2) {
            columns.get(2).addBytes(value, 0, value.length);
        }
        rows++;
    }

    /** Adds bytes to the only column. */
    public void addBytes(byte[] bytes, int from, int count) {
        columns.get(0).addBytes(bytes, from, count);
        rows++;
    }

    /** Begins the next batch. */
    public void clear() {
        rows = 0;
        columns.forEach(ColumnBuilder::clear);
    }

    List<ColumnBuilder> columns() {
        return columns;
    }
}
