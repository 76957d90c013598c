package dev.tonnage.client.arrow;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes tables of FlatBuffers from front to back: a table first, then what it refers to.
 * References lead forward, so each is filled in once its target is written.
 */
final class FlatWriter {
    private byte[] bytes = new byte[512];
    private int length;

    FlatWriter() {
        // The reference to the first table.
        int32(0);
    }

    /** The fields of a table, by their slots. */
    static final class Fields {
        private final long[] values;
        private final int[] sizes;
        private final int[] places;

        Fields(int slots) {
            values = new long[slots];
            sizes = new int[slots];
            places = new int[slots];
        }

        Fields number(int slot, int bytes, long value) {
            values[slot] = value;
            sizes[slot] = bytes;
            return this;
        }

        Fields reference(int slot) {
            return number(slot, 4, 0);
        }

        /** Where a reference lies, once the table is written. */
        int place(int slot) {
            return places[slot];
        }
    }

    /** Writes a table, and returns where it begins. */
    int table(Fields fields) {
        int count = fields.sizes.length;
        align(2);
        int slots = length;
        int16(4 + 2 * count);
        int sizeAt = length;
        int16(0);
        int firstSlot = length;
        grow(2 * count);
        length += 2 * count;
        align(8);
        int start = length;
        int32(start - slots);
        for (int slot = 0; slot < count; slot++) {
            if (fields.sizes[slot] == 0) {
                continue;
            }
            align(fields.sizes[slot]);
            fields.places[slot] = length;
            put16(firstSlot + 2 * slot, length - start);
            number(fields.sizes[slot], fields.values[slot]);
        }
        put16(sizeAt, length - start);
        return start;
    }

    /** Has a reference lead to what is written next to this place. */
    void point(int from, int to) {
        put32(from, to - from);
    }

    /** Has the buffer begin with this table. */
    void root(int table) {
        point(0, table);
    }

    int text(String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        align(4);
        int start = length;
        int32(encoded.length);
        grow(encoded.length + 1);
        System.arraycopy(encoded, 0, bytes, length, encoded.length);
        length += encoded.length;
        bytes[length++] = 0;
        return start;
    }

    /** Begins a list of references; they lie one after the other behind its length. */
    int references(int count) {
        align(4);
        int start = length;
        int32(count);
        grow(4 * count);
        length += 4 * count;
        return start;
    }

    /** A list of structures that are made of numbers of 8 bytes. */
    int numbers(long[] numbers, int count, int perElement) {
        while ((length + 4) % 8 != 0) {
            number(1, 0);
        }
        int start = length;
        int32(count / perElement);
        for (int index = 0; index < count; index++) {
            number(8, numbers[index]);
        }
        return start;
    }

    /** What was written, padded to a multiple of 8 bytes. */
    byte[] finish() {
        align(8);
        return Arrays.copyOf(bytes, length);
    }

    private void align(int to) {
        while (length % to != 0) {
            number(1, 0);
        }
    }

    private void int16(int value) {
        number(2, value);
    }

    private void int32(int value) {
        number(4, value);
    }

    private void number(int size, long value) {
        grow(size);
        for (int index = 0; index < size; index++) {
            bytes[length++] = (byte) (value >>> (8 * index));
        }
    }

    private void put16(int at, int value) {
        bytes[at] = (byte) value;
        bytes[at + 1] = (byte) (value >>> 8);
    }

    private void put32(int at, int value) {
        put16(at, value);
        put16(at + 2, value >>> 16);
    }

    private void grow(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }
}
