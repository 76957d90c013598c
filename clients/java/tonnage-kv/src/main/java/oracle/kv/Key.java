package oracle.kv;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The key of a pair: a major path, whose pairs lie together, and a minor path below it. */
public class Key implements Comparable<Key> {
    private final List<String> major;
    private final List<String> minor;

    private Key(List<String> major, List<String> minor) {
        if (major.isEmpty()) {
            throw new IllegalArgumentException("a key has one major component or more");
        }
        this.major = List.copyOf(major);
        this.minor = List.copyOf(minor);
    }

    /** A key of a major and a minor path. */
    public static Key createKey(List<String> majorPath, List<String> minorPath) {
        return new Key(majorPath, minorPath);
    }

    /** A key of one major component, and a minor path. */
    public static Key createKey(String majorComponent, List<String> minorPath) {
        return new Key(List.of(majorComponent), minorPath);
    }

    /** A key of a major path, and one minor component. */
    public static Key createKey(List<String> majorPath, String minorComponent) {
        return new Key(majorPath, List.of(minorComponent));
    }

    /** A key of one component each. */
    public static Key createKey(String majorComponent, String minorComponent) {
        return new Key(List.of(majorComponent), List.of(minorComponent));
    }

    /** A key of a major path. */
    public static Key createKey(List<String> majorPath) {
        return new Key(majorPath, List.of());
    }

    /** A key of one major component. */
    public static Key createKey(String majorComponent) {
        return new Key(List.of(majorComponent), List.of());
    }

    /** Both paths, one behind the other. */
    public List<String> getFullPath() {
        List<String> full = new ArrayList<>(major);
        full.addAll(minor);
        return full;
    }

    /** The major path. */
    public List<String> getMajorPath() {
        return new ArrayList<>(major);
    }

    /** The minor path. */
    public List<String> getMinorPath() {
        return new ArrayList<>(minor);
    }

    /** Whether another key is this one, or lies below it. */
    public boolean isPrefix(Key otherKey) {
        if (minor.isEmpty()) {
            return begins(otherKey.major, major);
        }
        return otherKey.major.equals(major) && begins(otherKey.minor, minor);
    }

    private static boolean begins(List<String> path, List<String> with) {
        return path.size() >= with.size() && path.subList(0, with.size()).equals(with);
    }

    /** In the order of the store: component by component, as bytes of UTF-8. */
    @Override
    public int compareTo(Key other) {
        int majors = compare(major, other.major);
        return majors != 0 ? majors : compare(minor, other.minor);
    }

    private static int compare(List<String> one, List<String> other) {
        for (int index = 0; index < Math.min(one.size(), other.size()); index++) {
            int order = Arrays.compareUnsigned(one.get(index).getBytes(StandardCharsets.UTF_8),
                    other.get(index).getBytes(StandardCharsets.UTF_8));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(one.size(), other.size());
    }

    /**
     * Reads a key as {@link #toString} writes it.
     *
     * @throws IllegalArgumentException for text that is none
     */
    public static Key fromString(String pathString) {
        dev.tonnage.client.Key key = dev.tonnage.client.Key.parse(pathString);
        return new Key(key.major(), key.minor());
    }

    /** `/` leads each component, `/-` parts the paths; `/`, `%` and a lone `-` are escaped. */
    /** The key as bytes, of which {@link #fromByteArray} makes it again: those of its text. */
    public byte[] toByteArray() {
        return toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The key of such bytes.
     *
     * @throws IllegalArgumentException for bytes of no key
     */
    public static Key fromByteArray(byte[] keyBytes) {
        return fromString(new String(keyBytes, StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return dev.tonnage.client.Key.of(major, minor).toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Key && major.equals(((Key) other).major)
                && minor.equals(((Key) other).minor);
    }

    @Override
    public int hashCode() {
        return 31 * major.hashCode() + minor.hashCode();
    }
}
