package dev.tonnage.client;

/** What becomes of an entry whose key is stored already. */
public enum OnExisting {
    /** The stored one stays; the new one is reported as existing. */
    KEEP("keep"),
    /** The new one takes its place. */
    REPLACE("replace"),
    /** As replace, without a look at what is stored: nothing is counted as existing. */
    BLIND_REPLACE("blind_replace"),
    /** The load stops. */
    FAIL("fail");

    private final String word;

    OnExisting(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }
}
