import Foundation

private let effort = ProcessInfo.processInfo.environment["TEST_EFFORT"].flatMap { Int($0) } ?? 1

/// How many rounds a race or a fuzz makes: `count`, or more by the factor `TEST_EFFORT`, as at night.
package func rounds(_ count: Int) -> Int { count * effort }

/// Whether tests may wait for a real clock, as at night.
package let isNight = effort > 1
