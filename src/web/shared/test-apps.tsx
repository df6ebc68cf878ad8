// Test apps and the rewards earned in them. Test apps have App-Ids of their own range.

const FIRST_TEST_APP = "99000000";
/** The test offer whose reward is paid as soon as its conversion is approved. */
export const PLAIN_TEST_OFFER = "signpost-test-one-goal";

/** All App-Ids have 8 digits. */
export const isTestApp = (appId: string) => appId >= FIRST_TEST_APP;

export const isTestReward = (transactionId: string) => transactionId.startsWith("test-");

/** Marks what belongs to a test app. */
export const TestTag = ({ of, name }: { of: boolean; name: string }) => of && <span class="tag">{name}</span>;
