// How an App-Id is written.

export const isAppId = (value: string) => /^[0-9]{8}$/.test(value);
