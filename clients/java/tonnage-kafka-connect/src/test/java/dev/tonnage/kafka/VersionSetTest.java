package dev.tonnage.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class VersionSetTest {
    /** Against a plain set of numbers. */
    @Test
    void itHoldsWhatWasAdded() {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            VersionSet versions = new VersionSet(1_000);
            TreeSet<Long> model = new TreeSet<>();
            for (int step = 0; step < 60; step++) {
                long first = random.nextInt(300);
                if (random.nextInt(4) > 0) {
                    versions.add(first);
                    model.add(first);
                } else {
                    long last = first + random.nextInt(20);
                    versions.addRange(first, last);
                    for (long version = first; version <= last; version++) {
                        model.add(version);
                    }
                }
            }
            assertEquals(model.last(), versions.last());
            VersionSet copy = new VersionSet(1_000);
            copy.addText(versions.toText(1_000));
            for (long version = 0; version < 330; version++) {
                assertEquals(model.contains(version), versions.contains(version));
                assertEquals(model.contains(version), copy.contains(version));
            }
        }
    }

    @Test
    void neighboursAreOneRange() {
        VersionSet versions = new VersionSet(10);
        for (long version : new long[] {5, 3, 4, 9, 1}) {
            versions.add(version);
        }
        assertEquals("1-1,3-5,9-9", versions.toText(10));
        versions.addRange(0, 2);
        assertEquals("0-5,9-9", versions.toText(10));
        assertEquals("0-5", versions.toText(1));
    }

    @Test
    void moreThanAMillionFreshVersionsTakeOneRange() {
        VersionSet versions = new VersionSet(10);
        for (long version = 3_000_000; version > 0; version--) {
            versions.add(version);
        }
        assertEquals("1-3000000", versions.toText(10));
    }

    /** What is forgotten is read twice; what is not known is never taken for known. */
    @Test
    void ofTooManyRangesTheNarrowestAreForgotten() {
        VersionSet versions = new VersionSet(10);
        for (long version = 0; version < 40; version += 2) {
            versions.add(version);
        }
        versions.addRange(100, 200);
        assertTrue(versions.contains(150));
        for (long version = 1; version < 40; version += 2) {
            assertFalse(versions.contains(version));
        }
        assertTrue(versions.widest(100).size() <= 10);
    }

    @Test
    void textsThatAreNoRangesAreRefused() {
        VersionSet versions = new VersionSet(10);
        assertThrows(IllegalArgumentException.class, () -> versions.addText("17"));
        assertThrows(IllegalArgumentException.class, () -> versions.addText("a-b"));
        assertThrows(IllegalArgumentException.class, () -> versions.addText(""));
    }
}
