package dev.tonnage.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The key of a pair: a major path, whose pairs lie together, and a minor path below it. Components
 * are text or bytes.
 */
public final class Key {
    private final List<byte[]> major;
    private final List<byte[]> minor;

    private Key(List<byte[]> major, List<byte[]> minor) {
        if (major.isEmpty()) {
            throw new IllegalArgumentException("a key has one major component or more");
        }
        this.major = major;
        this.minor = minor;
    }

    /** A key of these major components. */
    public static Key of(String... major) {
        return of(Arrays.asList(major), Collections.emptyList());
    }

    /** A key of major and minor components. */
    public static Key of(List<String> major, List<String> minor) {
        return new Key(encoded(major), encoded(minor));
    }

    /** A key whose components are bytes. The lists are copied, the arrays are not. */
    public static Key ofBytes(List<byte[]> major, List<byte[]> minor) {
        return new Key(List.copyOf(major), List.copyOf(minor));
    }

    /**
     * Reads a key as {@link #toString} writes it.
     *
     * @throws IllegalArgumentException for text that is none
     */
    public static Key parse(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException("`" + text + "` does not begin with `/`");
        }
        List<byte[]> major = new ArrayList<>();
        List<byte[]> minor = new ArrayList<>();
        List<byte[]> path = major;
        for (String part : text.substring(1).split("/", -1)) {
            if (part.equals("-") && path == major) {
                path = minor;
            } else {
                path.add(decoded(part, text));
            }
        }
        return new Key(List.copyOf(major), List.copyOf(minor));
    }

    private static byte[] decoded(String part, String whole) {
        byte[] from = part.getBytes(StandardCharsets.UTF_8);
        byte[] bytes = new byte[from.length];
        int count = 0;
        for (int index = 0; index < from.length; index++) {
            if (from[index] != '%') {
                bytes[count++] = from[index];
                continue;
            }
            int high = index + 2 <= from.length - 1 ? Character.digit(from[index + 1], 16) : -1;
            int low = index + 2 <= from.length - 1 ? Character.digit(from[index + 2], 16) : -1;
            if (high < 0 || low < 0) {
                throw new IllegalArgumentException("`" + whole
                        + "`: two hexadecimal digits follow each `%`");
            }
            bytes[count++] = (byte) (16 * high + low);
            index += 2;
        }
        return Arrays.copyOf(bytes, count);
    }

    private static List<byte[]> encoded(List<String> components) {
        if (components.isEmpty()) {
            return Collections.emptyList();
        }
        List<byte[]> encoded = new ArrayList<>(components.size());
        for (String component : components) {
            encoded.add(component.getBytes(StandardCharsets.UTF_8));
        }
        return Collections.unmodifiableList(encoded);
    }

    /** The major components as bytes. */
    public List<byte[]> majorBytes() {
        return major;
    }

    /** The minor components as bytes. */
    public List<byte[]> minorBytes() {
        return minor;
    }

    /** The major components as text. */
    public List<String> major() {
        return decoded(major);
    }

    /** The minor components as text. */
    public List<String> minor() {
        return decoded(minor);
    }

    private static List<String> decoded(List<byte[]> components) {
        List<String> decoded = new ArrayList<>(components.size());
        for (byte[] component : components) {
            decoded.add(new String(component, StandardCharsets.UTF_8));
        }
        return decoded;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Key && equal(major, ((Key) other).major)
                && equal(minor, ((Key) other).minor);
    }

    private static boolean equal(List<byte[]> one, List<byte[]> other) {
        return Arrays.deepEquals(one.toArray(), other.toArray());
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.deepHashCode(major.toArray()) + Arrays.deepHashCode(minor.toArray());
    }

    /**
     * As the server writes keys: `/` leads a component, `/-` parts the major from the minor ones.
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        major.forEach(component -> write(component, text));
        if (!minor.isEmpty()) {
            text.append("/-");
            minor.forEach(component -> write(component, text));
        }
        return text.toString();
    }

    private static void write(byte[] component, StringBuilder text) {
        text.append('/');
        String decoded = new String(component, StandardCharsets.UTF_8);
        boolean isText = Arrays.equals(decoded.getBytes(StandardCharsets.UTF_8), component);
        if (decoded.equals("-")) {
            text.append("%2D");
        } else if (isText) {
            for (int index = 0; index < decoded.length(); index++) {
                char next = decoded.charAt(index);
                if (next == '/' || next == '%' || next < ' ') {
                    text.append(String.format("%%%02X", (int) next));
                } else {
                    text.append(next);
                }
            }
        } else {
            for (byte next : component) {
                text.append(String.format("%%%02X", next & 0xFF));
            }
        }
    }
}
