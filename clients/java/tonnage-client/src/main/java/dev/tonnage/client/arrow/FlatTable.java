package dev.tonnage.client.arrow;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Reads a table of FlatBuffers. Every position is held against the buffer: what does not fit is an
 * {@link ArrowException}.
 */
final class FlatTable {
    private final ByteBuffer bytes;
    private final int start;
    private final int slots;
    private final int slotsBytes;

    private FlatTable(ByteBuffer bytes, int start) {
        this.bytes = bytes;
        this.start = start;
        long slots = (long) start - int32(start);
        this.slots = inside(slots, 4);
        this.slotsBytes = uint16(this.slots);
        inside(slots, slotsBytes);
    }

    /** The table that a buffer begins with. */
    static FlatTable root(ByteBuffer bytes) {
        FlatTable none = new FlatTable(bytes);
        return new FlatTable(bytes, none.target(0));
    }

    private FlatTable(ByteBuffer bytes) {
        this.bytes = bytes;
        this.start = 0;
        this.slots = 0;
        this.slotsBytes = 0;
    }

    /** Where a field lies; 0 where the table does not have it. */
    private int place(int slot) {
        int at = 4 + 2 * slot;
        if (at + 2 > slotsBytes) {
            return 0;
        }
        int offset = uint16(slots + at);
        return offset == 0 ? 0 : inside((long) start + offset, 1);
    }

    boolean has(int slot) {
        return place(slot) != 0;
    }

    long int64(int slot, long otherwise) {
        int at = place(slot);
        return at == 0 ? otherwise : bytes.getLong(inside(at, 8));
    }

    int int32(int slot, int otherwise) {
        int at = place(slot);
        return at == 0 ? otherwise : int32(at);
    }

    int int16(int slot, int otherwise) {
        int at = place(slot);
        return at == 0 ? otherwise : bytes.getShort(inside(at, 2));
    }

    int uint8(int slot, int otherwise) {
        int at = place(slot);
        return at == 0 ? otherwise : bytes.get(inside(at, 1)) & 0xFF;
    }

    /** A table within this one; null without it. */
    FlatTable table(int slot) {
        int at = place(slot);
        return at == 0 ? null : new FlatTable(bytes, target(at));
    }

    /** A text; null without it. */
    String text(int slot) {
        int at = place(slot);
        return at == 0 ? null : textAt(target(at));
    }

    private String textAt(int at) {
        int length = int32(at);
        if (length < 0) {
            throw malformed("a text of " + length + " bytes");
        }
        inside((long) at + 4, length);
        byte[] text = new byte[length];
        ByteBuffer from = bytes.duplicate();
        from.position(at + 4);
        from.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** How many elements a list has whose elements take this many bytes; 0 without it. */
    int listLength(int slot, int elementBytes) {
        int at = place(slot);
        if (at == 0) {
            return 0;
        }
        int list = target(at);
        int length = int32(list);
        if (length < 0) {
            throw malformed("a list of " + length + " elements");
        }
        inside((long) list + 4, (long) length * elementBytes);
        return length;
    }

    /** The table that is an element of a list. */
    FlatTable tableOfList(int slot, int index) {
        return new FlatTable(bytes, target(target(place(slot)) + 4 + 4 * index));
    }

    /** A number of a list of structures that are made of numbers of 8 bytes. */
    long int64OfList(int slot, int index) {
        return bytes.getLong(inside((long) target(place(slot)) + 4 + 8L * index, 8));
    }

    private int target(int at) {
        return inside((long) at + (int32(at) & 0xFFFF_FFFFL), 4);
    }

    private int int32(int at) {
        return bytes.getInt(inside(at, 4));
    }

    private int uint16(int at) {
        return bytes.getShort(inside(at, 2)) & 0xFFFF;
    }

    private int inside(long at, long length) {
        if (at < 0 || at + length > bytes.limit()) {
            throw malformed("it points outside itself");
        }
        return (int) at;
    }

    private static ArrowException malformed(String what) {
        return new ArrowException("the description of a message is damaged: " + what);
    }
}
