import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Runs classes of tests, and prints a line about each test: `Class_method: pass`, or what went wrong. */
public class RunTests {
    public static void main(String[] classes) throws Exception {
        JUnitCore runner = new JUnitCore();
        runner.addListener(new RunListener() {
            private Failure failure;

            @Override
            public void testStarted(Description test) {
                failure = null;
            }

            @Override
            public void testFailure(Failure failure) {
                this.failure = failure;
                if (System.getenv("TONNAGE_ACCEPTANCE_TRACE") != null) {
                    System.out.println(failure.getTrace());
                }
                if (failure.getDescription().getMethodName() == null) {
                    System.out.println(failure.getDescription().getTestClass().getSimpleName()
                            + ": FAIL " + failure.getException());
                }
            }

            @Override
            public void testFinished(Description test) {
                String told = failure == null ? "pass" : "FAIL " + failure.getException();
                System.out.println(test.getTestClass().getSimpleName() + "_" + test.getMethodName()
                        + ": " + told.lines().findFirst().orElse(""));
            }
        });
        for (String name : classes) {
            runner.run(Class.forName(name));
        }
        System.exit(0);
    }
}
