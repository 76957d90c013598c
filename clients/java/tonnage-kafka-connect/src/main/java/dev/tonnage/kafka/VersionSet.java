package dev.tonnage.kafka;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Versions of rows that were read, as ranges with their ends included. New ones wait in a list, and
 * are merged into the ranges when there are many of them. Memory is bounded: of too many ranges the
 * narrowest are forgotten, and their rows are read twice.
 */
final class VersionSet {
    private static final int FRESH_MAX = 1 << 20;

    private final int rangesMax;
    private long[] firsts = {};
    private long[] lasts = {};
    private long[] fresh = new long[1024];
    private int freshCount;

    /** An empty one of so many ranges at most; each takes 16 bytes. */
    VersionSet(int rangesMax) {
        this.rangesMax = rangesMax;
    }

    void add(long version) {
        if (freshCount == FRESH_MAX) {
            merge();
        }
        if (freshCount == fresh.length) {
            fresh = Arrays.copyOf(fresh, 2 * freshCount);
        }
        fresh[freshCount++] = version;
    }

    /** Adds all versions between two, and these. */
    void addRange(long first, long last) {
        merge();
        long[] addedFirst = {first};
        long[] addedLast = {last};
        join(addedFirst, addedLast, 1);
    }

    /** Whether a version is one of these. Those that were added since {@link #merge} do not count. */
    boolean contains(long version) {
        int place = Arrays.binarySearch(firsts, version);
        int range = place >= 0 ? place : -place - 2;
        return range >= 0 && version <= lasts[range];
    }

    /** The greatest of them; 0 where there is none. */
    long last() {
        merge();
        return lasts.length == 0 ? 0 : lasts[lasts.length - 1];
    }

    /** Makes ranges of what was added. */
    void merge() {
        if (freshCount == 0) {
            return;
        }
        int count = freshCount;
        freshCount = 0;
        Arrays.sort(fresh, 0, count);
        join(fresh, fresh, count);
    }

    /** Joins with so many other ranges, which ascend. */
    private void join(long[] otherFirsts, long[] otherLasts, int others) {
        long[] newFirsts = new long[firsts.length + others];
        long[] newLasts = new long[firsts.length + others];
        int count = 0;
        int own = 0;
        int other = 0;
        while (own < firsts.length || other < others) {
            boolean takesOwn = other == others
                    || own < firsts.length && firsts[own] <= otherFirsts[other];
            long first = takesOwn ? firsts[own] : otherFirsts[other];
            long last = takesOwn ? lasts[own++] : otherLasts[other++];
            // Ranges that touch become one.
            if (count > 0 && first <= newLasts[count - 1] + 1) {
                newLasts[count - 1] = Math.max(newLasts[count - 1], last);
            } else {
                newFirsts[count] = first;
                newLasts[count++] = last;
            }
        }
        firsts = Arrays.copyOf(newFirsts, count);
        lasts = Arrays.copyOf(newLasts, count);
        if (count > rangesMax) {
            List<long[]> kept = widest(rangesMax / 2);
            firsts = kept.stream().mapToLong(range -> range[0]).toArray();
            lasts = kept.stream().mapToLong(range -> range[1]).toArray();
        }
    }

    /** So many of the ranges, the widest ones, in ascending order. */
    List<long[]> widest(int count) {
        merge();
        long[] widths = new long[firsts.length];
        for (int range = 0; range < widths.length; range++) {
            widths[range] = lasts[range] - firsts[range];
        }
        Arrays.sort(widths);
        long least = widths.length <= count ? 0 : widths[widths.length - count];
        List<long[]> kept = new ArrayList<>();
        for (int range = 0; range < firsts.length && kept.size() < count; range++) {
            if (lasts[range] - firsts[range] >= least) {
                kept.add(new long[] {firsts[range], lasts[range]});
            }
        }
        return kept;
    }

    /** The widest ranges as text, such as `0-17,20-25`. */
    String toText(int count) {
        StringBuilder text = new StringBuilder();
        for (long[] range : widest(count)) {
            text.append(text.length() == 0 ? "" : ",").append(range[0]).append('-')
                    .append(range[1]);
        }
        return text.toString();
    }

    /** Adds the ranges of a text. */
    void addText(String text) {
        for (String range : text.split(",")) {
            int dash = range.indexOf('-');
            if (dash < 1) {
                throw new IllegalArgumentException("`" + text + "` are not ranges of versions");
            }
            addRange(Long.parseLong(range.substring(0, dash)),
                    Long.parseLong(range.substring(dash + 1)));
        }
    }
}
