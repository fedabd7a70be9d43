// expect: error: cannot find type 'URLRequest' in scope
import Foundation

func send(_ request: URLRequest) {}
