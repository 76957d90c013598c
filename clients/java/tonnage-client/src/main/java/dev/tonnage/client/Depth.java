package dev.tonnage.client;

/** Which pairs are meant by a key. */
public enum Depth {
    /** The pair of the key itself. */
    PARENT_ONLY("parent_only"),
    /** Those with one more component. */
    CHILDREN_ONLY("children_only"),
    /** Those with more components. */
    DESCENDANTS_ONLY("descendants_only"),
    /** The pair itself, and those with one more component. */
    PARENT_AND_CHILDREN("parent_and_children"),
    /** The pair itself, and those with more components. */
    PARENT_AND_DESCENDANTS("parent_and_descendants");

    private final String word;

    Depth(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }
}
