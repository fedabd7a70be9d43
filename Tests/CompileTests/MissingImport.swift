// flags: -enable-upcoming-feature MemberImportVisibility
// A new project asks for the import of the module in each file that uses a member.
import MockNetwork

func accept() -> String? {
    // error: is not available due to missing import of defining module 'APIProviderTransport'
    MockURLProtocol.requests.first?.headers["Accept"]
}
