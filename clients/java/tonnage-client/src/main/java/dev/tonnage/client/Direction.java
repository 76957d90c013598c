package dev.tonnage.client;

/** The order of what is read. */
public enum Direction {
    /** As it is ready. This is fastest. */
    UNORDERED("unordered"),
    /** In the order of the keys given, and of the rows below each. */
    FORWARD("forward"),
    /** The keys in the order given, the rows below each from the last one. */
    REVERSE("reverse");

    private final String word;

    Direction(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }
}
