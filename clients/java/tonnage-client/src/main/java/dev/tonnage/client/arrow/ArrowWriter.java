package dev.tonnage.client.arrow;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Writes a stream of Arrow IPC. A message may carry words for a server of Tonnage: the end marker,
 * and the numbers to acknowledge.
 */
public final class ArrowWriter {
    /** The name of the metadata that is meant for the server. */
    private static final String METADATA = "tonnage";
    private static final int VERSION_5 = 4;
    private static final int SCHEMA = 1;
    private static final int RECORD_BATCH = 3;
    private static final byte[] PADDING = new byte[8];

    private final OutputStream stream;

    /** Writes to a stream, which stays open. */
    public ArrowWriter(OutputStream stream) {
        this.stream = stream;
    }

    /** Writes the schema, which comes first. */
    public void schema(ArrowSchema schema) throws IOException {
        FlatWriter flat = new FlatWriter();
        int header = message(flat, SCHEMA, 0, null);
        FlatWriter.Fields fields = new FlatWriter.Fields(3).number(0, 2, 0).reference(1)
                .reference(2);
        flat.point(header, flat.table(fields));
        flat.point(fields.place(1), columns(flat, schema.fields()));
        flat.point(fields.place(2), metadata(flat, schema.metadata()));
        description(flat);
    }

    /**
     * Writes the rows of a builder.
     *
     * @param words for the server, as JSON; null for none
     */
    public void batch(BatchBuilder batch, String words) throws IOException {
        Layout layout = new Layout();
        batch.columns().forEach(layout::add);
        FlatWriter flat = new FlatWriter();
        int header = message(flat, RECORD_BATCH, layout.bytes, words);
        FlatWriter.Fields fields = new FlatWriter.Fields(3).number(0, 8, batch.rows())
                .reference(1).reference(2);
        flat.point(header, flat.table(fields));
        flat.point(fields.place(1), flat.numbers(layout.nodes, layout.nodeNumbers, 2));
        flat.point(fields.place(2), flat.numbers(layout.buffers, layout.bufferNumbers, 2));
        description(flat);
        for (Bytes buffer : layout.parts) {
            stream.write(buffer.array(), 0, buffer.length());
            stream.write(PADDING, 0, padding(buffer.length()));
        }
    }

    /** Writes words for the server without rows, as JSON. */
    public void words(String words) throws IOException {
        FlatWriter flat = new FlatWriter();
        message(flat, 0, 0, words);
        description(flat);
    }

    /** Ends the stream of messages. */
    public void end() throws IOException {
        stream.write(new byte[] {-1, -1, -1, -1, 0, 0, 0, 0});
    }

    private static int padding(int length) {
        return (8 - length % 8) % 8;
    }

    /** Begins a message, and returns where the reference to its header lies. */
    private static int message(FlatWriter flat, int kind, long bodyBytes, String words) {
        FlatWriter.Fields fields = new FlatWriter.Fields(5).number(0, 2, VERSION_5);
        if (kind != 0) {
            fields.number(1, 1, kind).reference(2);
        }
        fields.number(3, 8, bodyBytes);
        if (words != null) {
            fields.reference(4);
        }
        flat.root(flat.table(fields));
        if (words != null) {
            flat.point(fields.place(4), metadata(flat, Map.of(METADATA, words)));
        }
        return fields.place(2);
    }

    private static int metadata(FlatWriter flat, Map<String, String> metadata) {
        int list = flat.references(metadata.size());
        int index = 0;
        for (Map.Entry<String, String> entry : metadata.entrySet()) {
            FlatWriter.Fields fields = new FlatWriter.Fields(2).reference(0).reference(1);
            flat.point(list + 4 + 4 * index++, flat.table(fields));
            flat.point(fields.place(0), flat.text(entry.getKey()));
            flat.point(fields.place(1), flat.text(entry.getValue()));
        }
        return list;
    }

    private static int columns(FlatWriter flat, List<ArrowField> columns) {
        int list = flat.references(columns.size());
        for (int index = 0; index < columns.size(); index++) {
            ArrowField column = columns.get(index);
            FlatWriter.Fields fields = new FlatWriter.Fields(7).reference(0)
                    .number(1, 1, column.isNullable() ? 1 : 0)
                    .number(2, 1, number(column.type().kind())).reference(3).reference(5)
                    .reference(6);
            flat.point(list + 4 + 4 * index, flat.table(fields));
            flat.point(fields.place(0), flat.text(column.name()));
            type(flat, fields.place(3), column.type());
            flat.point(fields.place(5), columns(flat, column.children()));
            flat.point(fields.place(6), metadata(flat, column.metadata()));
        }
        return list;
    }

    /** The numbers of Arrow's Schema.fbs. */
    private static int number(ArrowType.Kind kind) {
        switch (kind) {
            case NULL:
                return 1;
            case INT:
                return 2;
            case FLOAT:
                return 3;
            case BINARY:
                return 4;
            case UTF8:
                return 5;
            case BOOL:
                return 6;
            case DECIMAL:
                return 7;
            case DATE:
                return 8;
            case TIME:
                return 9;
            case TIMESTAMP:
                return 10;
            case LIST:
                return 12;
            case STRUCT:
                return 13;
            case FIXED_BINARY:
                return 15;
            case FIXED_LIST:
                return 16;
            case MAP:
                return 17;
            default:
                return 18;
        }
    }

    private static void type(FlatWriter flat, int from, ArrowType type) {
        FlatWriter.Fields fields = new FlatWriter.Fields(3);
        switch (type.kind()) {
            case INT:
                fields.number(0, 4, 8 * type.width()).number(1, 1, type.isSigned() ? 1 : 0);
                break;
            case FLOAT:
                fields.number(0, 2, type.width() == 4 ? 1 : 2);
                break;
            case DECIMAL:
                fields.number(0, 4, type.precision()).number(1, 4, type.scale())
                        .number(2, 4, 8 * type.width());
                break;
            case DATE:
                fields.number(0, 2, type.width() == 4 ? 0 : 1);
                break;
            case TIME:
                fields.number(0, 2, type.unit()).number(1, 4, 8 * type.width());
                break;
            case TIMESTAMP:
                fields.number(0, 2, type.unit());
                if (type.zone() != null) {
                    fields.reference(1);
                }
                break;
            case FIXED_BINARY:
            case FIXED_LIST:
                fields.number(0, 4, type.width());
                break;
            case DURATION:
                fields.number(0, 2, type.unit());
                break;
            default:
                break;
        }
        flat.point(from, flat.table(fields));
        if (type.kind() == ArrowType.Kind.TIMESTAMP && type.zone() != null) {
            flat.point(fields.place(1), flat.text(type.zone()));
        }
    }

    private void description(FlatWriter flat) throws IOException {
        byte[] bytes = flat.finish();
        int length = bytes.length;
        stream.write(new byte[] {-1, -1, -1, -1, (byte) length, (byte) (length >>> 8),
            (byte) (length >>> 16), (byte) (length >>> 24)});
        stream.write(bytes);
    }

    /** Where the buffers of a batch lie in its body. */
    private static final class Layout {
        private final List<Bytes> parts = new ArrayList<>();
        private long[] nodes = new long[32];
        private int nodeNumbers;
        private long[] buffers = new long[64];
        private int bufferNumbers;
        private long bytes;

        void add(ColumnBuilder column) {
            if (nodeNumbers + 2 > nodes.length) {
                nodes = Arrays.copyOf(nodes, 2 * nodes.length);
            }
            nodes[nodeNumbers++] = column.rows();
            nodes[nodeNumbers++] = column.nulls();
            for (Bytes buffer : column.buffers()) {
                if (bufferNumbers + 2 > buffers.length) {
                    buffers = Arrays.copyOf(buffers, 2 * buffers.length);
                }
                buffers[bufferNumbers++] = bytes;
                buffers[bufferNumbers++] = buffer.length();
                bytes += buffer.length() + padding(buffer.length());
                parts.add(buffer);
            }
            column.children().forEach(this::add);
        }
    }
}
