package dev.tonnage.client.arrow;

import java.util.Arrays;

/** Bytes that grow, little-endian. */
final class Bytes {
    private static final int BYTES_MAX = Integer.MAX_VALUE - 64;

    private byte[] bytes = new byte[64];
    private int length;

    int length() {
        return length;
    }

    byte[] array() {
        return bytes;
    }

    void clear() {
        length = 0;
    }

    void cut(int to) {
        length = to;
    }

    void put(byte[] value, int from, int count) {
        grow(count);
        System.arraycopy(value, from, bytes, length, count);
        length += count;
    }

    void put8(int value) {
        grow(1);
        bytes[length++] = (byte) value;
    }

    void put32(int value) {
        grow(4);
        set32(length, value);
        length += 4;
    }

    void put64(long value) {
        grow(8);
        set32(length, (int) value);
        set32(length + 4, (int) (value >>> 32));
        length += 8;
    }

    void zeros(int count) {
        grow(count);
        Arrays.fill(bytes, length, length + count, (byte) 0);
        length += count;
    }

    private void set32(int at, int value) {
        bytes[at] = (byte) value;
        bytes[at + 1] = (byte) (value >>> 8);
        bytes[at + 2] = (byte) (value >>> 16);
        bytes[at + 3] = (byte) (value >>> 24);
    }

    private void grow(int more) {
        if (more > BYTES_MAX - length) {
            throw new ArrowException("a batch has more than 2 GiB: send smaller ones");
        }
        if (length + more > bytes.length) {
            long doubled = Math.max(2L * bytes.length, (long) length + more);
            bytes = Arrays.copyOf(bytes, (int) Math.min(doubled, BYTES_MAX));
        }
    }
}
