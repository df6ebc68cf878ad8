export function Reward({ appId, transactionId }: { appId: string; transactionId: string }) { return <p>{appId}{transactionId}</p>; }
