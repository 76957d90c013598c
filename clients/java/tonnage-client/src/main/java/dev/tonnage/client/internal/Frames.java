package dev.tonnage.client.internal;

import dev.tonnage.client.arrow.ArrowBatch;
import dev.tonnage.client.arrow.ArrowException;
import dev.tonnage.client.arrow.ArrowReader;
import dev.tonnage.client.arrow.ArrowWriter;
import dev.tonnage.client.arrow.BatchBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Frames of actions: the length of a header, the header as JSON, the length of rows, the rows. */
public final class Frames {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /** No frames yet. */
    public Frames() {
    }

    /** Adds a frame. Its rows may be null. */
    public Frames add(Object header, BatchBuilder rows) {
        try {
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            if (rows != null) {
                ArrowWriter writer = new ArrowWriter(stream);
                writer.schema(rows.schema());
                writer.batch(rows, null);
                writer.end();
            }
            part(Json.write(header).getBytes(StandardCharsets.UTF_8));
            part(stream.toByteArray());
            return this;
        } catch (IOException error) {
            throw new IllegalStateException("memory cannot be written to", error);
        }
    }

    private void part(byte[] bytes) throws IOException {
        byte[] length = new byte[4];
        ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.length);
        out.write(length);
        out.write(bytes);
    }

    /** All frames. */
    public byte[] toBytes() {
        return out.toByteArray();
    }

    /** A frame of an answer. */
    public static final class Frame {
        private final String header;
        private final List<ArrowBatch> batches;

        Frame(String header, List<ArrowBatch> batches) {
            this.header = header;
            this.batches = batches;
        }

        /** The header as JSON. */
        public String header() {
            return header;
        }

        /** The rows. */
        public List<ArrowBatch> batches() {
            return batches;
        }
    }

    /**
     * Reads the frames of an answer.
     *
     * @throws ArrowException for what is cut off or no frame
     */
    public static List<Frame> read(byte[] bytes) {
        ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        List<Frame> frames = new ArrayList<>();
        while (from.hasRemaining()) {
            String header = new String(part(from), StandardCharsets.UTF_8);
            byte[] rows = part(from);
            List<ArrowBatch> batches = new ArrayList<>();
            try (ArrowReader reader = new ArrowReader(new ByteArrayInputStream(rows))) {
                for (ArrowBatch batch = rows.length == 0 ? null : reader.next(); batch != null;
                        batch = reader.next()) {
                    batches.add(batch);
                }
            } catch (IOException error) {
                throw new ArrowException("the rows of a frame: " + error.getMessage(), error);
            }
            frames.add(new Frame(header, batches));
        }
        return frames;
    }

    private static byte[] part(ByteBuffer from) {
        int length = from.remaining() < 4 ? -1 : from.getInt();
        if (length < 0 || length > from.remaining()) {
            throw new ArrowException("a frame is cut off");
        }
        byte[] part = new byte[length];
        from.get(part);
        return part;
    }
}
