import Foundation

/// How many rounds a race or a fuzz makes: `count`, or more by the factor `TEST_EFFORT`, as at night.
package func rounds(_ count: Int) -> Int {
    count * (ProcessInfo.processInfo.environment["TEST_EFFORT"].flatMap { Int($0) } ?? 1)
}
