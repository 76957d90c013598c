package dev.tonnage.client.arrow;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a stream of Arrow IPC: a schema, then batches. Dictionaries and packed buffers are refused,
 * since servers of Tonnage send neither.
 *
 * <p>Lengths that the stream tells are held against what comes: memory grows with the bytes that
 * came, not with the number that was told.
 */
public final class ArrowReader implements Closeable {
    private static final int MARK = 0xFFFF_FFFF;
    private static final int DESCRIPTION_BYTES_MAX = 64 << 20;
    private static final long BODY_BYTES_MAX = Integer.MAX_VALUE - 64;
    /** Bytes that are taken at once for a length that is only told. */
    private static final int PIECE_BYTES = 1 << 20;
    /** Rows of a batch that has no bytes. */
    private static final int EMPTY_ROWS_MAX = 1 << 24;
    private static final int DEPTH_MAX = 64;
    /** Where a server says why rows end early. */
    private static final String ERROR_METADATA = "tonnage.error";

    private final InputStream stream;
    private ArrowSchema schema;
    private String error;
    private boolean isOver;

    /** Reads from a stream, which is closed with the reader. */
    public ArrowReader(InputStream stream) {
        this.stream = stream;
    }

    /**
     * The columns.
     *
     * @throws IOException when the stream ends before its schema
     * @throws ArrowException for what is not a schema
     */
    public ArrowSchema schema() throws IOException {
        while (schema == null) {
            if (!read(null)) {
                throw new EOFException("the stream has no schema");
            }
        }
        return schema;
    }

    /**
     * The next rows; null behind the last ones.
     *
     * @throws IOException when the stream is cut off
     * @throws ArrowException for what is not a batch of the schema
     */
    public ArrowBatch next() throws IOException {
        schema();
        List<ArrowBatch> found = new ArrayList<>(1);
        while (found.isEmpty() && !isOver) {
            read(found);
        }
        return found.isEmpty() ? null : found.get(0);
    }

    /** Why the rows ended early, as JSON of the server; null where they did not. */
    public String error() {
        return error;
    }

    @Override
    public void close() throws IOException {
        isOver = true;
        stream.close();
    }

    /** Reads a message. False at the end of the stream. */
    private boolean read(List<ArrowBatch> batches) throws IOException {
        int mark = int32();
        if (mark != MARK) {
            throw new ArrowException("a message does not begin with FF FF FF FF");
        }
        int described = int32();
        if (described == 0) {
            isOver = true;
            return false;
        }
        if (described < 0 || described > DESCRIPTION_BYTES_MAX) {
            throw new ArrowException("a description of " + described + " bytes");
        }
        try {
            FlatTable message = FlatTable.root(little(bytes(described)));
            long bodyBytes = message.int64(3, 0);
            if (bodyBytes < 0 || bodyBytes > BODY_BYTES_MAX) {
                throw new ArrowException("a message of " + bodyBytes + " bytes");
            }
            ByteBuffer body = little(bytes((int) bodyBytes));
            take(message, body, batches);
        } catch (IndexOutOfBoundsException damaged) {
            throw new ArrowException("a message is damaged: " + damaged.getMessage(), damaged);
        }
        return true;
    }

    private void take(FlatTable message, ByteBuffer body, List<ArrowBatch> batches) {
        int kind = message.uint8(1, 0);
        FlatTable header = message.table(2);
        if (kind == 0) {
            return;
        }
        if (header == null) {
            throw new ArrowException("a message without its header");
        }
        switch (kind) {
            case 1:
                takeSchema(header);
                return;
            case 3:
                if (batches == null) {
                    throw new ArrowException("rows come before their schema");
                }
                batches.add(new BatchReader(header, body).batch());
                return;
            case 2:
                throw new ArrowException("dictionaries are not read");
            default:
                throw new ArrowException("a message of kind " + kind);
        }
    }

    private void takeSchema(FlatTable header) {
        if (header.int16(0, 0) != 0) {
            throw new ArrowException("numbers come in the order of big-endian machines");
        }
        List<ArrowField> fields = fields(header, 1, 0);
        ArrowSchema told = new ArrowSchema(fields, metadata(header, 2));
        if (schema == null) {
            schema = told;
            return;
        }
        error = told.metadata().get(ERROR_METADATA);
        if (error == null) {
            throw new ArrowException("a second schema");
        }
        isOver = true;
    }

    private static List<ArrowField> fields(FlatTable table, int slot, int depth) {
        if (depth > DEPTH_MAX) {
            throw new ArrowException("columns are made of columns more than " + DEPTH_MAX
                    + " deep");
        }
        int count = table.listLength(slot, 4);
        List<ArrowField> fields = new ArrayList<>(count);
        for (int index = 0; index < count; index++) {
            FlatTable field = table.tableOfList(slot, index);
            String name = field.text(0);
            if (field.has(4)) {
                throw new ArrowException("column " + name + ": dictionaries are not read");
            }
            ArrowType type = type(field.uint8(2, 0), field.table(3));
            fields.add(new ArrowField(name == null ? "" : name, type, field.uint8(1, 0) != 0,
                    fields(field, 5, depth + 1), metadata(field, 6)));
        }
        return fields;
    }

    private static Map<String, String> metadata(FlatTable table, int slot) {
        Map<String, String> metadata = new LinkedHashMap<>();
        for (int index = 0; index < table.listLength(slot, 4); index++) {
            FlatTable entry = table.tableOfList(slot, index);
            String value = entry.text(1);
            metadata.put(String.valueOf(entry.text(0)), value == null ? "" : value);
        }
        return metadata;
    }

    /** The numbers of types and of their fields are those of Arrow's Schema.fbs. */
    private static ArrowType type(int kind, FlatTable told) {
        if (told == null) {
            throw new ArrowException("a column without a type");
        }
        switch (kind) {
            case 1:
                return ArrowType.NULL;
            case 2:
                return ArrowType.integer(told.int32(0, 0) / 8, told.uint8(1, 0) != 0);
            case 3:
                int precision = told.int16(0, 0);
                if (precision == 0) {
                    throw new ArrowException("numbers of 2 bytes with a floating point "
                            + "are not read");
                }
                return precision == 1 ? ArrowType.FLOAT32 : ArrowType.FLOAT64;
            case 4:
                return ArrowType.BINARY;
            case 5:
                return ArrowType.UTF8;
            case 6:
                return ArrowType.BOOL;
            case 7:
                return ArrowType.decimal(told.int32(0, 0), told.int32(1, 0),
                        told.int32(2, 128) / 8);
            case 8:
                return ArrowType.date(told.int16(0, 1) == 1);
            case 9:
                return ArrowType.timed(ArrowType.Kind.TIME, told.int32(1, 32) / 8,
                        told.int16(0, 1), null);
            case 10:
                return ArrowType.timed(ArrowType.Kind.TIMESTAMP, 8, told.int16(0, 0), told.text(1));
            case 12:
                return ArrowType.LIST;
            case 13:
                return ArrowType.STRUCT;
            case 15:
                return ArrowType.fixedBinary(told.int32(0, 0));
            case 16:
                return ArrowType.fixedList(told.int32(0, 0));
            case 17:
                return ArrowType.MAP;
            case 18:
                return ArrowType.timed(ArrowType.Kind.DURATION, 8, told.int16(0, 1), null);
            case 19:
                return ArrowType.large(ArrowType.Kind.BINARY);
            case 20:
                return ArrowType.large(ArrowType.Kind.UTF8);
            case 21:
                return ArrowType.large(ArrowType.Kind.LIST);
            default:
                throw new ArrowException("columns of Arrow's type " + kind + " are not read");
        }
    }

    /** Takes the columns of a batch out of its body, in the order in which they lie there. */
    private final class BatchReader {
        private final FlatTable header;
        private final ByteBuffer body;
        private int node;
        private int buffer;

        BatchReader(FlatTable header, ByteBuffer body) {
            if (header.has(3)) {
                throw new ArrowException("packed batches are not read");
            }
            this.header = header;
            this.body = body;
        }

        ArrowBatch batch() {
            int rows = count(header.int64(0, 0));
            List<ArrowColumn> columns = new ArrayList<>();
            for (ArrowField field : schema.fields()) {
                ArrowColumn column = column(field);
                if (column.length() != rows) {
                    throw new ArrowException("column " + field.name() + " has " + column.length()
                            + " values, the batch has " + rows + " rows");
                }
                columns.add(column);
            }
            return new ArrowBatch(schema, rows, columns);
        }

        private int count(long told) {
            if (told < 0 || told > Integer.MAX_VALUE - 1
                    || told > EMPTY_ROWS_MAX + 8L * body.limit()) {
                throw new ArrowException("a batch of " + told + " rows in " + body.limit()
                        + " bytes");
            }
            return (int) told;
        }

        private ArrowColumn column(ArrowField field) {
            if (node >= header.listLength(1, 16)) {
                throw new ArrowException("column " + field.name() + " is missing");
            }
            int length = count(header.int64OfList(1, 2 * node));
            long nulls = header.int64OfList(1, 2 * node + 1);
            node++;
            ByteBuffer validity = null;
            ByteBuffer offsets = null;
            ByteBuffer data = null;
            ArrowType.Kind kind = field.type().kind();
            if (kind != ArrowType.Kind.NULL) {
                ByteBuffer bits = buffer(field);
                validity = nulls == 0 || bits.limit() == 0 ? null : bits;
            }
            switch (kind) {
                case BINARY:
                case UTF8:
                    offsets = buffer(field);
                    data = buffer(field);
                    break;
                case LIST:
                case MAP:
                    offsets = buffer(field);
                    break;
                case NULL:
                case STRUCT:
                case FIXED_LIST:
                    break;
                default:
                    data = buffer(field);
                    break;
            }
            List<ArrowColumn> children = new ArrayList<>(field.children().size());
            for (ArrowField child : field.children()) {
                children.add(column(child));
            }
            return new ArrowColumn(field, length, validity, offsets, data, children);
        }

        private ByteBuffer buffer(ArrowField field) {
            if (buffer >= header.listLength(2, 16)) {
                throw new ArrowException("column " + field.name() + " lacks a buffer");
            }
            long offset = header.int64OfList(2, 2 * buffer);
            long length = header.int64OfList(2, 2 * buffer + 1);
            buffer++;
            if (offset < 0 || length < 0 || offset > body.limit()
                    || length > body.limit() - offset) {
                throw new ArrowException("a buffer of column " + field.name()
                        + " is outside its message");
            }
            ByteBuffer slice = body.duplicate();
            slice.position((int) offset);
            slice.limit((int) (offset + length));
            return slice.slice();
        }
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private int int32() throws IOException {
        int value = 0;
        for (int index = 0; index < 4; index++) {
            int next = stream.read();
            if (next < 0) {
                throw new EOFException("the stream is cut off: its end marker is missing");
            }
            value |= next << (8 * index);
        }
        return value;
    }

    private byte[] bytes(int count) throws IOException {
        byte[] all;
        if (count <= PIECE_BYTES) {
            all = stream.readNBytes(count);
        } else {
            // What is told may be a lie: memory is taken as bytes come.
            ByteArrayOutputStream come = new ByteArrayOutputStream(PIECE_BYTES);
            byte[] piece = new byte[64 << 10];
            int left = count;
            while (left > 0) {
                int read = stream.read(piece, 0, Math.min(left, piece.length));
                if (read < 0) {
                    break;
                }
                come.write(piece, 0, read);
                left -= read;
            }
            all = come.toByteArray();
        }
        if (all.length < count) {
            throw new EOFException("the stream is cut off within a message");
        }
        return all;
    }
}
